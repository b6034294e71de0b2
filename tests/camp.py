import sys,time,warnings
import numpy as np, coherently as co
from coherently.errors import ContradictionError
from coherently.problem import find_loss
from tests.solve.composite_reference import *
bad=0; t0=time.process_time(); ours=0
for seed in range(int(sys.argv[1]),int(sys.argv[2])):
    form=['brier','log','linearised'][seed%3]
    panel=random_panel(seed); loss=find_loss('log' if form=='log' else 'brier')
    try:
        ref=Reference(panel,loss,form=='linearised')
    except Exception as e: print('ref',seed,e); continue
    c=time.process_time()
    try:
        r=co.aggregate(panel,co.Exact(conditionals='linearised' if form=='linearised' else 'called_off',time_limit=20),loss)
    except ContradictionError as e:
        if ref.value is not None: print('INFEAS?',seed,form,ref.value,ref.status,e); bad+=1
        continue
    d=time.process_time()-c; ours+=d
    if ref.value is None: print('FEAS?',seed,form,r.objective,r.violation); bad+=1; continue
    near=1e-7 if ref.status=='optimal' else 1e-5
    sc=max(1,ref.value)
    msg=[]
    if r.lower_bound>ref.value+near*sc: msg.append('BOUND')
    if abs(r.objective-ref.value)>r.gap+near*sc: msg.append('OBJ')
    if str(r.status)!='optimal': msg.append(str(r.status))
    if r.violation>1e-9: msg.append('viol')
    if d>.5: msg.append('slow %.2f'%d)
    if msg: print(seed,form,msg,r.objective,ref.value,ref.status,r.gap,r.violation,flush=True); bad+=1
print('done',sys.argv[1:],'bad',bad,'ours cpu',ours)
