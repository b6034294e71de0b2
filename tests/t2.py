import sys,time
import numpy as np, coherently as co
from coherently.problem import *
from coherently.problem import settled,pose,split,find_loss
from tests.solve.composite_reference import *
from coherently.solve.component.newton import Newton
from coherently.solve.component.objective import objective_of
from coherently.solve.component.budget import Budget
seed=int(sys.argv[1]); form=sys.argv[2]
panel=random_panel(seed); loss=find_loss('log' if form=='log' else 'brier')
ref=Reference(panel,loss,form=='linearised'); print(ref.value,ref.status)
pr=pose(settled(panel),loss)
print(panel.laws.pins.text if len(panel.laws.pins) else None, panel.laws.pins.low, panel.laws.pins.high)
for t in zip(panel.written.texts if hasattr(panel.written,'texts') else panel.written.text, panel.probability, panel.weight, panel.lower if panel.lower is not None else [None]*99, panel.upper if panel.upper is not None else [None]*99): print(t)
tot=0
for q in split(pr.merged):
    m=q.merged
    n=Newton(m,objective_of(m,loss,linearised=form=='linearised'),Budget(time.monotonic()+60,5e-7,1/len(split(pr.merged))),0)
    o=n._length
    def ln(here,aim,slope,mass,smooth,o=o,n=n):
        r=o(here,aim,slope,mass,smooth); print('  ',n.steps,'len',r,'slope %.3e'%slope,'smooth %.12f'%smooth,'mass',mass,'LB %.12f'%n.bound,'value',n.value,'lvl-least %.2e'%(n.engine.level()-n.engine.least()),'prices',n.engine.prices(),'viol %.1e'%n.pins.violation(aim.sides), 'viol here %.1e'%n.pins.violation(here.sides)); return r
    n._length=ln
    a=n.run(); tot+=a.objective
    print('part',m.n_variables,len(m),a.objective,a.bound,a.ended,a.steps,a.violation,a.x)
    print('  settled',n.objective.settled,n.objective.free, 'r', n.objective.planes(n.best.sides,0).ratio, 'mid',n.objective.middle)
print('total',tot)
print('ref x', ref.x.value)
